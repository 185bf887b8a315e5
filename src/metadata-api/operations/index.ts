import type { OperationGroup } from '../operation.ts';
import { actionOperations } from './actions.ts';
import { apiLimitOperations } from './api-limits.ts';
import { openTelemetryOperations } from './opentelemetry.ts';
import { batchTrackingOperations } from './batch-tracking.ts';
import { catalogOperations } from './catalog.ts';
import { computedFieldOperations } from './computed-fields.ts';
import { customTypeOperations } from './custom-types.ts';
import { cronTriggerOperations } from './cron-triggers.ts';
import { eventCleanupOperations } from './event-cleanups.ts';
import { eventLogOperations } from './event-logs.ts';
import { eventTriggerOperations } from './event-triggers.ts';
import { functionOperations } from './functions.ts';
import { genericOperations } from './generic.ts';
import { networkOperations } from './network.ts';
import { overviewOperations } from './overview.ts';
import { permissionOperations } from './permissions.ts';
import { queryCollectionOperations } from './query-collections.ts';
import { remoteRelationshipOperations } from './remote-relationships.ts';
import { remoteTypeRelationshipOperations } from './remote-type-relationships.ts';
import { relationshipOperations } from './relationships.ts';
import { remoteSchemaOperations } from './remote-schemas.ts';
import { remoteSchemaPermissionOperations } from './remote-schema-permissions.ts';
import { planOperations } from './plan-changes.ts';
import { previewOperations } from './preview-changes.ts';
import { restEndpointOperations } from './rest-endpoints.ts';
import { roleOperations } from './roles.ts';
import { scheduledEventOperations } from './scheduled-events.ts';
import { sourceOperations } from './sources.ts';
import { stateOperations } from './state.ts';
import { subscriptionOperations } from './subscriptions.ts';
import { tableOperations } from './tables.ts';
import { webhookTransformOperations } from './webhook-transforms.ts';

/** Every group of operations of `/v1/metadata`. A new group is one line here. */
export const operationGroups: readonly OperationGroup[] = [
  ...sourceOperations,
  ...catalogOperations,
  ...tableOperations,
  ...batchTrackingOperations,
  ...relationshipOperations,
  ...remoteRelationshipOperations,
  ...remoteTypeRelationshipOperations,
  ...computedFieldOperations,
  ...functionOperations,
  ...permissionOperations,
  ...eventTriggerOperations,
  ...eventLogOperations,
  ...eventCleanupOperations,
  ...remoteSchemaOperations,
  ...queryCollectionOperations,
  ...remoteSchemaPermissionOperations,
  ...customTypeOperations,
  ...actionOperations,
  ...restEndpointOperations,
  ...cronTriggerOperations,
  ...scheduledEventOperations,
  ...roleOperations,
  ...apiLimitOperations,
  ...openTelemetryOperations,
  ...networkOperations,
  ...genericOperations,
  ...overviewOperations,
  ...planOperations,
  ...previewOperations,
  ...stateOperations,
  ...subscriptionOperations,
  ...webhookTransformOperations,
];
