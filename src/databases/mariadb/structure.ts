import type { StructureForm } from '../../model/structure-form.ts';

/**
 * Changes of the type, the nullability and the comment of a column are missing: `modify` needs the whole definition of the column, and
 * drops what it does not repeat, such as a collation or `on update`.
 */
export const structureForm: StructureForm = {
  quotes: { name: '`', escapePrefix: '', currentSchema: 'database()' },
  types: [
    'bigint',
    'blob',
    'boolean',
    'date',
    'datetime',
    'decimal(10, 2)',
    'double',
    'int',
    'json',
    'longtext',
    'text',
    'time',
    'timestamp',
    'uuid',
    'varchar(200)',
  ],
  generated: { type: 'bigint', clause: 'auto_increment' },
  column: '{column} {type}[ {required}][ default {default}][ {generated}][ comment {comment}]',
  definitions: {
    'create-table': 'create table {table} (\n  {parts}\n)[ comment = {comment}]',
    'rename-table': 'alter table {table} rename to {toTable}',
    'comment-table': 'alter table {table} comment = {comment}',
    'drop-table': 'drop table {table}',
    'add-column': 'alter table {table} add column {definition}',
    'rename-column': 'alter table {table} rename column {column} to {to}',
    'set-default': 'alter table {table} alter column {column} set default {default}',
    'drop-default': 'alter table {table} alter column {column} drop default',
    'drop-column': 'alter table {table} drop column {column}',
    'add-primary-key': 'alter table {table} add primary key ({columns})',
    'add-unique': 'alter table {table} add[ constraint {constraint}] unique ({columns})',
    'add-foreign-key':
      'alter table {table} add[ constraint {constraint}] foreign key ({columns}) references {target} ({targetColumns})[ on delete {onDelete}][ on update {onUpdate}]',
    'add-check': 'alter table {table} add[ constraint {constraint}] check ({check})',
    'drop-primary-key': 'alter table {table} drop primary key',
    'drop-unique': 'alter table {table} drop index {constraint}',
    'drop-foreign-key': 'alter table {table} drop foreign key {constraint}',
    'drop-check': 'alter table {table} drop constraint {constraint}',
    'create-index': 'create[ {unique}] index {index} on {table} ({columns})',
    'drop-index': 'drop index {index} on {table}',
  },
  indexMethods: [],
  actions: ['no action', 'restrict', 'cascade', 'set null'],
  reads: {
    size: `select cast(data_length + index_length as char), cast(data_length as char), cast(index_length as char), cast(coalesce(table_rows, 0) as char)
from information_schema.tables
where table_schema = {schema} and table_name = {name} and table_type = 'BASE TABLE'`,
    indexes: `select index_name, concat(min(index_type), ' (', group_concat(coalesce(column_name, '') order by seq_in_index separator ', '), ')'), '', case when min(non_unique) = 0 then 'unique' else '' end,
  case when index_name = 'PRIMARY' or min(non_unique) = 0 then index_name else '' end
from information_schema.statistics
where table_schema = {schema} and table_name = {name}
group by index_name
order by index_name`,
    constraints: `select k.constraint_name, case k.constraint_type when 'PRIMARY KEY' then 'primary-key' when 'UNIQUE' then 'unique' when 'FOREIGN KEY' then 'foreign-key' when 'CHECK' then 'check' else 'other' end,
  case k.constraint_type when 'CHECK' then (
    select concat('check (', c.check_clause, ')') from information_schema.check_constraints c
    where c.constraint_schema = k.constraint_schema and c.table_name = k.table_name and c.constraint_name = k.constraint_name limit 1
  ) else concat(lower(k.constraint_type), ' (', (
    select group_concat(u.column_name order by u.ordinal_position separator ', ') from information_schema.key_column_usage u
    where u.constraint_schema = k.constraint_schema and u.table_name = k.table_name and u.constraint_name = k.constraint_name
  ), ')', coalesce((
    select concat(' references ', r.referenced_table_name, ' on delete ', lower(r.delete_rule), ' on update ', lower(r.update_rule)) from information_schema.referential_constraints r
    where r.constraint_schema = k.constraint_schema and r.table_name = k.table_name and r.constraint_name = k.constraint_name
  ), '')) end
from information_schema.table_constraints k
where k.table_schema = {schema} and k.table_name = {name}
order by field(k.constraint_type, 'PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY', 'CHECK'), k.constraint_name`,
    triggers: `select trigger_name, concat(action_timing, ' ', event_manipulation, ' ', action_statement), 'enabled'
from information_schema.triggers
where event_object_schema = {schema} and event_object_table = {name}
order by trigger_name`,
  },
};
