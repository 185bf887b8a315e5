drop table task, member, organisation;
