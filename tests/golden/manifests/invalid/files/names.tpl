Hello
${usr}
