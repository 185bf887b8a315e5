import type { OperationGroup } from '../metadata-api/operation.ts';
import { actionOperations } from '../metadata-api/operations/actions.ts';
import { apiLimitOperations } from '../metadata-api/operations/api-limits.ts';
import { openTelemetryOperations } from '../metadata-api/operations/opentelemetry.ts';
import { batchTrackingOperations } from '../metadata-api/operations/batch-tracking.ts';
import { catalogOperations } from '../metadata-api/operations/catalog.ts';
import { computedFieldOperations } from '../metadata-api/operations/computed-fields.ts';
import { customTypeOperations } from '../metadata-api/operations/custom-types.ts';
import { connectionOperations } from '../metadata-api/operations/connections.ts';
import { cronTriggerOperations } from '../metadata-api/operations/cron-triggers.ts';
import { eventCleanupOperations } from '../metadata-api/operations/event-cleanups.ts';
import { eventLogOperations } from '../metadata-api/operations/event-logs.ts';
import { eventTriggerOperations } from '../metadata-api/operations/event-triggers.ts';
import { functionOperations } from '../metadata-api/operations/functions.ts';
import { genericOperations } from '../metadata-api/operations/generic.ts';
import { networkOperations } from '../metadata-api/operations/network.ts';
import { overviewOperations } from '../metadata-api/operations/overview.ts';
import { schemaDiagramOperations } from '../metadata-api/operations/schema-diagram.ts';
import { permissionOperations } from '../metadata-api/operations/permissions.ts';
import { documentOperations } from '../metadata-api/operations/documents.ts';
import { queryCollectionOperations } from '../metadata-api/operations/query-collections.ts';
import { remoteRelationshipOperations } from '../metadata-api/operations/remote-relationships.ts';
import { remoteTypeRelationshipOperations } from '../metadata-api/operations/remote-type-relationships.ts';
import { relationshipOperations } from '../metadata-api/operations/relationships.ts';
import { remoteSchemaOperations } from '../metadata-api/operations/remote-schemas.ts';
import { remoteSchemaPermissionOperations } from '../metadata-api/operations/remote-schema-permissions.ts';
import { planOperations } from '../sql-api/plan-changes.ts';
import { previewOperations } from '../sql-api/preview-changes.ts';
import { restEndpointOperations } from '../metadata-api/operations/rest-endpoints.ts';
import { roleSchemaOperations } from '../metadata-api/operations/role-schema.ts';
import { roleOperations } from '../metadata-api/operations/roles.ts';
import { scheduledEventOperations } from '../metadata-api/operations/scheduled-events.ts';
import { sourceOperations } from '../metadata-api/operations/sources.ts';
import { metadataHistoryOperations } from '../metadata-api/operations/metadata-history.ts';
import { stateOperations } from '../metadata-api/operations/state.ts';
import { recentOperations } from '../metadata-api/operations/recent-operations.ts';
import { subscriptionOperations } from '../metadata-api/operations/subscriptions.ts';
import { tableOperations } from '../metadata-api/operations/tables.ts';
import { webhookTransformOperations } from '../metadata-api/operations/webhook-transforms.ts';

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
  ...documentOperations,
  ...remoteSchemaPermissionOperations,
  ...customTypeOperations,
  ...actionOperations,
  ...restEndpointOperations,
  ...cronTriggerOperations,
  ...scheduledEventOperations,
  ...roleOperations,
  ...roleSchemaOperations,
  ...apiLimitOperations,
  ...openTelemetryOperations,
  ...networkOperations,
  ...genericOperations,
  ...overviewOperations,
  ...schemaDiagramOperations,
  ...planOperations,
  ...previewOperations,
  ...metadataHistoryOperations,
  ...stateOperations,
  ...subscriptionOperations,
  ...recentOperations,
  ...connectionOperations,
  ...webhookTransformOperations,
];
