import type { ConsoleForm } from '../../model/console-form.ts';
import { LEXIS } from './lexis.ts';
import { structureForm } from './structure.ts';

export const consoleForm: ConsoleForm = {
  title: 'MariaDB',
  editor: 'sql-mysql',
  lexis: LEXIS,
  schemaKey: 'schema',
  examples: [
    { label: 'Create table', sql: 'create table author (\n  id bigint auto_increment primary key,\n  name varchar(200) not null\n);\n' },
    { label: 'Create view', sql: 'create view recent as\n  select * from author order by id desc limit 10;\n' },
    {
      label: 'Largest tables',
      sql: 'select table_name, table_rows\nfrom information_schema.tables\nwhere table_schema = database()\norder by table_rows desc\nlimit 20;\n',
    },
  ],
  structure: structureForm,
  explain: { plan: 'explain format=json', analyze: 'analyze format=json' },
  secret: {
    path: ['connection_info', 'connection_string'],
    label: 'Database URL',
    hint: 'It is stored in the metadata, with its password.',
    placeholder: 'mysql://user:password@host:3306/database',
    variable: 'SHOP_DATABASE_URL',
    json: false,
  },
  fields: [],
};
