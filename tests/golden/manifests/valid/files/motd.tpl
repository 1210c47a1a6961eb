Host ${host}
%{ for user in users ~}
- ${user}
%{ endfor ~}
%{ if loud }LOUD%{ endif }
