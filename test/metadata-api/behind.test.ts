/** Operations without a metadata change on an instance that has not loaded the newest version yet. */
import { expect, it, onTestFinished } from 'vitest';
import { withSource } from '../../src/metadata/edit.ts';
import { EMPTY_METADATA, type Metadata, type SourceMetadata } from '../../src/metadata/metadata.ts';
import { refusal, testAdministration } from './support.ts';

it('runs SQL on a source that another instance has added, and rejects an unknown source', async () => {
  let newer: Metadata | undefined;
  const resourceVersion = 99;
  const api = await testAdministration('create table item (id int)', {
    load: async () => ({ resourceVersion: newer === undefined ? 0 : resourceVersion, metadata: newer ?? EMPTY_METADATA }),
    changesSince: async (version) => ({ kind: 'unknown', resourceVersion: newer === undefined ? version : resourceVersion }),
  });
  onTestFinished(() => api.close());
  const { metadata } = api.state.current();
  newer = withSource(metadata, { ...(metadata.sources.get('default') as SourceMetadata), name: 'late' });
  const run = (source: string) => api.queryV2('run_sql', { source, sql: 'select 1 as a' });
  expect(await run('late')).toEqual({ result_type: 'TuplesOk', result: [['a'], ['1']] });
  expect(await refusal(run('nothing'))).toMatchObject({ status: 400, code: 'not-exists' });
});
