${uper("x")}
${upper()}
