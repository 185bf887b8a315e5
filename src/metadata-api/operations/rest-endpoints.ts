import { SvcError } from '../../errors/svc-error.ts';
import { nonEmptyText, object, required } from '../../metadata/codec.ts';
import { withEntry, withoutEntry } from '../../metadata/edit.ts';
import { restEndpointCodec } from '../../metadata/rest-endpoint.ts';
import { objectId } from '../../schema-cache/object-id.ts';
import { BROKEN_BY_DROP, operation, type OperationGroup } from '../operation.ts';
import { INCONSISTENT, refused } from '../operation-error.ts';

const create: OperationGroup = () => [
  operation({
    type: 'create_rest_endpoint',
    args: restEndpointCodec,
    changes: 'metadata',
    errors: [refused('already-exists', 'an endpoint with this name exists'), INCONSISTENT],
    documentation: {
      summary: 'Adds a REST endpoint under /api/rest/ that runs a GraphQL operation of a query collection.',
      example: {
        name: 'author_by_id',
        url: 'author/:id',
        methods: ['GET'],
        definition: { query: { collection_name: 'shop', query_name: 'author' } },
        comment: null,
      },
    },
    edit(metadata, endpoint) {
      if (metadata.restEndpoints.has(endpoint.name)) {
        throw new SvcError('already-exists', `Endpoint with name: ${endpoint.name} already exists`);
      }
      return { ...metadata, restEndpoints: withEntry(metadata.restEndpoints, endpoint.name, endpoint) };
    },
    edited: ({ name }) => [objectId.restEndpoint(name)],
  }),
];

const drop: OperationGroup = () => [
  operation({
    type: 'drop_rest_endpoint',
    args: object('DropEndpoint', { name: required(nonEmptyText) }),
    changes: 'metadata',
    errors: [refused('not-exists', 'the endpoint does not exist')],
    documentation: { summary: 'Removes a REST endpoint.', example: { name: 'author_by_id' } },
    othersBroke: BROKEN_BY_DROP,
    edit(metadata, { name }) {
      if (!metadata.restEndpoints.has(name)) throw new SvcError('not-exists', `endpoint with name: ${name} does not exist`);
      return { ...metadata, restEndpoints: withoutEntry(metadata.restEndpoints, name) };
    },
  }),
];

export const restEndpointOperations: readonly OperationGroup[] = [create, drop];
