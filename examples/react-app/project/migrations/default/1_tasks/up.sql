create table organisation (
  id int generated always as identity primary key,
  name text not null unique
);

create table member (
  id int generated always as identity primary key,
  organisation_id int not null references organisation,
  name text not null,
  email text not null unique check (email = lower(email)),
  password_hash text not null,
  unique (id, organisation_id)
);

create table task (
  id int generated always as identity primary key,
  organisation_id int not null,
  author_id int not null,
  title text not null constraint task_title_is_not_blank check (title ~ '\S'),
  is_done boolean not null default false,
  -- A task and its author belong to the same organisation.
  foreign key (author_id, organisation_id) references member (id, organisation_id)
);

create index on task (organisation_id, id);
