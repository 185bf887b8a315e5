/** Runs one root of the IR on the path of GraphQL requests: the same plan, the same compiler. */
import type { Session } from '../../auth/session.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { runPlan } from '../../execute/run-plan.ts';
import type { MutationRoot } from '../../ir/mutation.ts';
import type { SelectRoot } from '../../ir/select.ts';
import { type Plan, planOperation } from '../../plan/plan.ts';
import type { Parameter } from '../../sql/fragment.ts';
import { textOfBytes } from '../../util/bytes.ts';
import { type Json, type JsonObject, parseJson } from '../../util/json.ts';
import type { RunContext } from '../operation.ts';

/** @returns the root's JSON @throws SvcError */
export async function runRoot(root: SelectRoot | MutationRoot, source: string, context: RunContext): Promise<Json> {
  const { services, snapshot, session, signal, headers, path } = context;
  const plan = planOperation(
    {
      kind: root.mutation === undefined ? 'query' : 'mutation',
      name: null,
      response: { kind: 'root', index: 0 },
      joins: [],
      roots: [{ kind: 'source', source, path, responseKey: root.alias, root }],
      constraints: [],
      reusable: false,
    },
    (name) => services.compilerOf(snapshot, name),
  );
  requireSessionVariables(plan, session);
  const body = await runPlan(plan, {
    connections: snapshot.connections,
    session,
    variables: {},
    how: signal === undefined ? {} : { signal },
    validateInput: services.validateInput,
    ...(headers === undefined ? {} : { headers }),
  });
  return (parseJson(textOfBytes(body)) as JsonObject)['data'] ?? null;
}

/** @throws SvcError not-found in the words of the legacy API */
function requireSessionVariables(plan: Plan, { variables }: Session): void {
  for (const parameter of parametersOf(plan)) {
    const { value } = parameter.operand;
    if (value.kind === 'session' && !variables.has(value.name)) {
      throw new SvcError('not-found', `"${value.name}" header is expected but not found`);
    }
  }
}

function parametersOf({ steps }: Plan): readonly Parameter[] {
  return steps.flatMap((step) =>
    step.kind === 'mutation'
      ? step.statements.flatMap(({ statement }) => statement.parameters)
      : step.kind === 'select'
        ? step.statement.parameters
        : [],
  );
}
