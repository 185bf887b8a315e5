/** The GraphQL schema of a role, or the part of it that documents use. */
import type { DocumentNode } from 'graphql';
import { SvcError } from '../../errors/svc-error.ts';
import { parseDocument } from '../../graphql-engine/document.ts';
import { DEFAULT_LIMITS } from '../../graphql-engine/engine.ts';
import { createTypeData } from '../../graphql-engine/introspection/type-data.ts';
import { cutSchema, DEFAULT_INPUT_DEPTH, MAX_INPUT_DEPTH } from '../../graphql-engine/schema-cut/cut-schema.ts';
import { defaulted, flag, list, nonEmptyText, nonNegativeInt, object, optional, required, text } from '../../metadata/codec.ts';
import { deadlineCheck } from '../../state/deadline-check.ts';
import { type Cooperative, runCooperatively } from '../../util/cooperative.ts';
import type { Json } from '../../util/json.ts';
import { at, type Path } from '../../util/path.ts';
import { operation, type OperationGroup } from '../operation.ts';
import { refused } from '../operation-error.ts';

const getRoleSchema: OperationGroup = () => [
  operation({
    type: 'get_role_schema',
    args: object('GetRoleSchema', {
      role: required(nonEmptyText),
      documents: optional(list(text)),
      inputDepth: defaulted(nonNegativeInt('input_depth', MAX_INPUT_DEPTH), () => DEFAULT_INPUT_DEPTH),
      backendOnly: flag,
      allMembers: flag,
    }),
    changes: 'nothing',
    errors: [
      refused(
        'validation-failed',
        'a document is not valid GraphQL or has more than 50,000 tokens, or there are more than 20,000 documents',
      ),
      refused('timeout', 'the timeout passed'),
    ],
    documentation: {
      summary:
        'Returns the GraphQL schema of a role, or the part of it that documents use, as the answer to an introspection query. Administrators see it even if introspection is disabled for the role.',
      details: `\`documents\` are operations and fragments. The answer, \`{"__schema": …}\`, is a schema against which they are valid. Parts of the documents that the role does not have are skipped, not rejected. Without \`documents\`, it is the whole schema.

\`input_depth\` limits the levels of related input objects below the types of variables, from 0 to ${MAX_INPUT_DEPTH}. Default: ${DEFAULT_INPUT_DEPTH}. \`backend_only\` adds what \`backend_only\` permissions allow. With \`all_members\`, the types have all their members, those that are not used with the type \`String\`: for messages that suggest a member. The command \`svc schema\` uses this operation.`,
      example: { role: 'user', documents: ['query ($where: article_bool_exp) { article(where: $where) { id } }'] },
    },
    async run({ role, documents, inputDepth, backendOnly, allMembers }, { snapshot, requestOptions, path }) {
      const variant = backendOnly ? 'backend' : 'frontend';
      const goOn = deadlineCheck(requestOptions, 'the schema was read');
      const types = createTypeData(snapshot.wholeRoots(role, variant));
      if (documents === undefined) return { __schema: { ...types.head, types: await types.all() } } as unknown as Json;
      const parsed = await runCooperatively(parseAll(documents, at(path, 'documents')), goOn);
      const { cut, forValidation } = await cutSchema(types, parsed, inputDepth, goOn);
      return (allMembers ? await forValidation() : cut) as unknown as Json;
    },
  }),
];

/** Maximum number of documents; operations and fragments are counted one by one. */
const MAX_DOCUMENTS = 20_000;

/** @throws SvcError validation-failed */
function* parseAll(documents: readonly string[], path: Path): Cooperative<readonly DocumentNode[]> {
  if (documents.length > MAX_DOCUMENTS) throw new SvcError('validation-failed', `there are more than ${MAX_DOCUMENTS} documents`, { path });
  const parsed: DocumentNode[] = [];
  for (const [i, document] of documents.entries()) {
    try {
      parsed.push(parseDocument(document, DEFAULT_LIMITS.maxTokens));
    } catch (thrown) {
      throw thrown instanceof SvcError ? thrown.withPath(at(path, i)) : thrown;
    }
    yield;
  }
  return parsed;
}

export const roleSchemaOperations: readonly OperationGroup[] = [getRoleSchema];
