import { loadSampleData, trackSampleData } from '../../src/embedded-postgres/sample-data.ts';
import { SECRET } from './browser.ts';
import { startTestService, type TestService } from './service.ts';

/**
 * A service with the console, an admin secret and, by default, the sample store.
 * @param others environment variables that metadata may reference
 */
export async function startConsoleService(
  options: Readonly<Record<string, string>> = {},
  hasSample = true,
  others: Readonly<Record<string, string>> = {},
): Promise<TestService> {
  const service = await startTestService({ ENABLE_CONSOLE: 'true', ADMIN_SECRET: SECRET, ...options }, others);
  if (hasSample) {
    await loadSampleData(service.databaseUrl);
    await trackSampleData(service.url, SECRET);
  }
  return service;
}
