import type { ConsoleForm } from '../../model/console-form.ts';
import { STANDARD_LEXIS } from '../../model/sql-lexis.ts';
import { structureForm } from './structure.ts';

const FUNCTIONS = `select r.specific_schema, r.specific_name, r.routine_name, r.type_udt_schema, r.type_udt_name,
  p.parameter_name, nullif(p.udt_schema, 'pg_catalog'), p.udt_name
from information_schema.routines r
left join information_schema.parameters p
  on p.specific_schema = r.specific_schema and p.specific_name = r.specific_name and p.parameter_mode in ('IN', 'INOUT')
where r.routine_type = 'FUNCTION' and r.specific_schema not in ('pg_catalog', 'information_schema')
order by r.specific_schema, r.routine_name, r.specific_name, p.ordinal_position`;

export const consoleForm: ConsoleForm = {
  title: 'PostgreSQL',
  editor: 'sql',
  lexis: STANDARD_LEXIS,
  schemaKey: 'schema',
  examples: [
    {
      label: 'Create table',
      sql: 'create table author (\n  id bigint generated always as identity primary key,\n  name text not null\n);\n',
    },
    { label: 'Create view', sql: 'create view recent as\n  select * from author order by id desc limit 10;\n' },
    { label: 'Largest tables', sql: 'select relname, n_live_tup\nfrom pg_stat_user_tables\norder by n_live_tup desc\nlimit 20;\n' },
  ],
  functionsSql: FUNCTIONS,
  structure: structureForm,
  explain: { plan: 'explain (format json)', analyze: 'explain (analyze, buffers, format json)' },
  secret: {
    path: ['connection_info', 'database_url'],
    label: 'Database URL',
    hint: 'It is stored in the metadata, with its password.',
    placeholder: 'postgres://user:password@host:5432/database',
    variable: 'SHOP_DATABASE_URL',
    json: false,
  },
  fields: [],
};
