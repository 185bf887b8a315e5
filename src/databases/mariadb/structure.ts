import type { StructureForm } from '../../model/structure-form.ts';

/** Types whose columns have a character set, and words that say which. `[[:<:]]` and `[[:>:]]` are the ends of a word. */
const TEXT_TYPE = '^ *(char|varchar|character|tinytext|text|mediumtext|longtext|long|enum|set)[[:>:]]';
const CHARACTER_SET = '[[:<:]](character +set|charset|collate|binary|varbinary|byte|ascii|unicode)[[:>:]]';
/** The type in lower case without its quoted values, such as those of an enum. */
const BARE_TYPE = `regexp_replace(lower({type}), '''([^'']|'''')*''|"([^"]|"")*"', '')`;

/**
 * `modify` drops what it does not repeat, so that a change of the type reads and repeats the rest of the definition. The check of a JSON
 * column belongs to its type, and the precision of `on update` has to be that of the type. Changes of the nullability and the comment of a column are missing.
 */
const COLUMN_ATTRIBUTES = `select concat_ws(' ',
    case when c.collation_name is not null and ${BARE_TYPE} regexp '${TEXT_TYPE}' and ${BARE_TYPE} not regexp '${CHARACTER_SET}'
      then concat('character set ', c.character_set_name, ' collate ', c.collation_name) end,
    case c.is_nullable when 'NO' then 'not null' else 'null' end,
    case when c.extra like '%on update%' and lower({type}) regexp '^ *(timestamp|datetime)'
      then concat('on update current_timestamp', regexp_substr({type}, '[(][0-9]+[)]')) end,
    case when c.extra like '%auto_increment%' then 'auto_increment' end,
    case when c.extra like '%INVISIBLE%' then 'invisible' end,
    case when c.extra like '%WITHOUT SYSTEM VERSIONING%' then 'without system versioning' end),
  coalesce((select concat('check (', k.check_clause, ')') from information_schema.check_constraints k
    where k.constraint_schema = c.table_schema and k.table_name = c.table_name and k.constraint_name = c.column_name and k.level = 'Column'
      and replace(k.check_clause, '\`', '') <> concat('json_valid(', c.column_name, ')') limit 1), ''),
  case when c.is_generated = 'ALWAYS' then 'The values of the column are generated: change its type on the SQL page'
    when c.column_type like '%COMPRESSED%' then 'The column is compressed: change its type on the SQL page'
    when c.data_type in ('geometry', 'point', 'linestring', 'polygon', 'multipoint', 'multilinestring', 'multipolygon', 'geometrycollection')
      then 'The column may have a reference system: change its type on the SQL page'
    else '' end
from information_schema.columns c
where c.table_schema = {schema} and c.table_name = {name} and c.column_name = {column}`;

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
    'set-type': 'alter table {table} modify column {column} {type}[ {attributes}][ default {default}][ comment {comment}][ {check}]',
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
    columnAttributes: COLUMN_ATTRIBUTES,
    triggers: `select trigger_name, concat(action_timing, ' ', event_manipulation, ' ', action_statement), 'enabled'
from information_schema.triggers
where event_object_schema = {schema} and event_object_table = {name}
order by trigger_name`,
  },
};
