-- Two organisations. Passwords: ann-likes-tutorials, ben-likes-tutorials, cleo-likes-tutorials.
insert into organisation (name) values ('Acme'), ('Bolt');

insert into member (organisation_id, name, email, password_hash) values
  (1, 'Ann', 'ann@acme.example', 'tIH5X2wcpvVtPsF35Vfvgg==:u8Z5UM2YvWSigRd4hlpeyotekvm0+yOZlpegv26Wbj2+xvriI7lFSTdbiHRcbYlCGYToy7ALTpQ5Y+fNaDFG3A=='),
  (1, 'Ben', 'ben@acme.example', 'wGutgOSR4XiFAeIhG/6KKQ==:cRy5Cp2bY5Inoxt26u0NkXHE3Y92tunP1tGHUH5kNSxgAcrD/JwjFcEO6C9djW1vaYz3srbEPw5J/DP2zgoGCw=='),
  (2, 'Cleo', 'cleo@bolt.example', 'CfhH6Ek4R6aIqeTnzu1o/Q==:jLyiij4hRyquL95ojgHSWucMSClo2c+Mvo/YSqLhsnmSTxw1fZ9lgSX6qo4mm01nmE4wse7phIdCPYJ/4iIJ7A==');

insert into task (organisation_id, author_id, title)
  select 1, 1 + n % 2, 'Inspect roof ' || n from generate_series(1, 12) n
  union all
  select 2, 3, 'Test engine ' || n from generate_series(1, 3) n;
