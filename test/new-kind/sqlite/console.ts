import type { ConsoleForm } from '../../../src/model/console-form.ts';

export const consoleForm: ConsoleForm = {
  title: 'SQLite',
  editor: 'sql',
  escapes: false,
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
