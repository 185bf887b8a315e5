import react from '@vitejs/plugin-react';
import { defineConfig, loadEnv } from 'vite';

export default defineConfig(({ mode }) => {
  const { SVC_GRAPHQL_ENDPOINT } = loadEnv(mode, 'project', 'SVC_GRAPHQL_');
  // The browser sends its requests to Vite, which passes them on: page and API have one origin, as behind a proxy in production.
  const proxy = { '/v1/graphql': { target: SVC_GRAPHQL_ENDPOINT, ws: true } };
  return { plugins: [react()], server: { proxy }, preview: { proxy } };
});
