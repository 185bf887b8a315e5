/** Confirmation of `svc permissions test` against a service that is not the developer's own. */
import { parse } from 'graphql';
import { failure } from '../../project/failure.ts';
import type { TestSuite } from '../../project/permissions/test-files.ts';
import { LOOPBACK } from '../../project/project.ts';
import { counted } from '../../util/counted.ts';
import { type CommandContext, flagOption } from '../context.ts';

/**
 * Asks before tests write to an environment with an endpoint of its own, or to another machine.
 * @throws ProjectFailure without a confirmation
 */
export async function confirmTests(context: CommandContext, read: () => Promise<readonly TestSuite[]>): Promise<void> {
  const { endpoint, endpointEnvironment } = (await context.project()).settings;
  if (endpointEnvironment === null && LOOPBACK.test(new URL(endpoint).hostname)) return;
  const target = `the databases of ${endpoint}${endpointEnvironment === null ? '' : ` (environment ${endpointEnvironment})`}`;
  let question = `The tests may write to ${target} now and after each change of a file, and nothing is rolled back.`;
  if (!flagOption(context, 'watch')) {
    const writes = (await read()).flatMap(writesOf);
    if (writes.length === 0) return;
    question = `The tests write to ${target}, and nothing is rolled back: ${writes.join(', ')}.`;
  }
  if (!(await context.confirm(question))) throw failure('not-confirmed', 'no test was run');
}

function writesOf({ file, setup, teardown, tests }: TestSuite): readonly string[] {
  const mutations = tests.filter(({ query }) => isMutation(query)).length;
  return [
    ...(setup === undefined && teardown === undefined ? [] : [`SQL of setup or teardown in ${file}`]),
    ...(mutations === 0 ? [] : [`${counted(mutations, 'mutation')} in ${file}`]),
  ];
}

/** Returns false for text that cannot be parsed, which the service rejects. */
function isMutation(query: string): boolean {
  try {
    return parse(query).definitions.some((each) => each.kind === 'OperationDefinition' && each.operation === 'mutation');
  } catch {
    return false;
  }
}
