import type { ConsoleForm } from '../../../src/model/console-form.ts';
import { STANDARD_LEXIS } from '../../../src/model/sql-lexis.ts';

export const consoleForm: ConsoleForm = {
  title: 'SQLite',
  editor: 'sql',
  lexis: { ...STANDARD_LEXIS, nestedComments: false, dollarQuotes: false },
  schemaKey: 'schema',
  secret: {
    path: ['file'],
    label: 'File',
    hint: 'Path on the machine of the service.',
    placeholder: '/data/shop.db',
    variable: 'SHOP_FILE',
    json: false,
  },
  fields: [],
};
