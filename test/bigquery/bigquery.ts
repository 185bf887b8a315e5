/** A service with a BigQuery source on an emulator of its own. */
import { type BigQuery, type DatasetFixture, startBigQuery } from '../support/bigquery-emulator/index.ts';
import { startTestService, type TestService } from '../support/service.ts';
import type { JsonObject } from '../../src/util/json.ts';

export interface BigQueryService {
  readonly bigquery: BigQuery;
  readonly service: TestService;
  stop(): Promise<void>;
}

/** Returns the configuration of a source on an emulator. */
export function configurationOf({ url, project, serviceAccount }: BigQuery, datasets: string): JsonObject {
  return {
    service_account: { ...serviceAccount },
    project_id: project,
    datasets,
    api_endpoint: url,
    retry_base_delay: 1000,
  };
}

/** @param sql creates further content of the dataset `shop` @param options of the service */
export async function startBigQueryService(
  sql: string,
  options: Readonly<Record<string, string>> = {},
  tables: DatasetFixture = {},
): Promise<BigQueryService> {
  const bigquery = await startBigQuery({ datasets: { shop: tables }, sql });
  const service = await startTestService(options);
  return {
    bigquery,
    service,
    async stop() {
      await service.stop();
      await bigquery.stop();
    },
  };
}
