import type { CodegenConfig } from '@graphql-codegen/cli';

process.loadEnvFile('project/.env');
const { SVC_GRAPHQL_ENDPOINT, SVC_GRAPHQL_ADMIN_SECRET = '' } = process.env;

const config: CodegenConfig = {
  // The schema as the role `member` sees it: what the role may not use is a type error.
  schema: {
    [`${SVC_GRAPHQL_ENDPOINT}/v1/graphql`]: {
      headers: { 'x-svc-admin-secret': SVC_GRAPHQL_ADMIN_SECRET, 'x-svc-role': 'member' },
    },
  },
  documents: ['src/**/*.{ts,tsx}', '!src/gql/**'],
  generates: {
    'src/gql/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: { enumsAsTypes: true, skipTypename: true, useTypeImports: true },
    },
  },
};

export default config;
