import type { ConsoleForm } from '../../model/console-form.ts';

/** BigQuery in the console. */
export const consoleForm: ConsoleForm = {
  title: 'BigQuery',
  editor: 'sql',
  escapes: true,
  schemaKey: 'dataset',
  examples: [{ label: 'Tables of a dataset', sql: 'select table_name, table_type\nfrom shop.INFORMATION_SCHEMA.TABLES;\n' }],
  secret: {
    path: ['service_account'],
    label: 'Key of the service account',
    hint: 'The JSON file from Google. It becomes part of the metadata.',
    placeholder: '{"type": "service_account", …}',
    variable: 'SVC_BIGQUERY_KEY',
    json: true,
  },
  fields: [
    {
      key: 'project_id',
      label: 'Project',
      hint: 'Contains the datasets and pays for the queries.',
      placeholder: 'my-project',
      type: 'text',
      required: true,
    },
    { key: 'datasets', label: 'Datasets', hint: 'Separated by commas.', placeholder: 'shop, sales', type: 'names', required: true },
    { key: 'location', label: 'Location', hint: 'Of the datasets. Defaults to theirs.', placeholder: 'EU', type: 'text', required: false },
    {
      key: 'maximum_bytes_billed',
      label: 'Maximum bytes of a query',
      hint: 'A query that would read more is refused. Each byte is billed.',
      placeholder: '10000000000',
      type: 'number',
      required: false,
    },
    {
      key: 'global_select_limit',
      label: 'Maximum rows of a list',
      hint: 'Default 1000.',
      placeholder: '1000',
      type: 'number',
      required: false,
    },
    {
      key: 'api_endpoint',
      label: 'Address of the interface',
      hint: "Defaults to Google's. Needed for a private endpoint.",
      placeholder: 'https://bigquery.googleapis.com',
      type: 'text',
      required: false,
    },
  ],
};
