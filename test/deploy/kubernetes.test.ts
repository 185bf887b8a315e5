/** The Kubernetes base as a cluster interprets it: selectors must match, and pods run without needless privileges. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

type Labels = Readonly<Record<string, string>>;
interface Selector {
  readonly matchLabels?: Labels;
}
interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly timeoutSeconds: number;
  readonly failureThreshold?: number;
}
interface Container {
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly envFrom: readonly object[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly: boolean }[];
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly resources: object;
  readonly securityContext: object;
}
interface Pod {
  readonly automountServiceAccountToken: boolean;
  readonly enableServiceLinks: boolean;
  readonly securityContext: object;
  readonly containers: readonly [Container];
  readonly volumes: readonly { readonly name: string; readonly secret: { readonly secretName: string; readonly defaultMode: number } }[];
}
interface Port {
  readonly name?: string;
  readonly port: string | number;
  readonly targetPort?: string;
}
/** The objects of the base by kind, as far as this test reads them. */
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Labels };
  readonly spec: {
    readonly selector?: Labels | Selector;
    readonly template?: { readonly metadata: { readonly labels: Labels }; readonly spec: Pod };
    readonly ports?: readonly Port[];
    readonly podSelector?: Selector;
    readonly ingress?: readonly { readonly ports: readonly Port[] }[];
    readonly endpoints?: readonly {
      readonly port: string;
      readonly authorization: { readonly credentials: { readonly name: string; readonly key: string } };
      readonly relabelings: readonly object[];
    }[];
  };
}

const folder = fileURLToPath(new URL('../../deploy/kubernetes', import.meta.url));
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
/** Parses numbers with a leading zero as Kubernetes does. */
const parse = (name: string): readonly Manifest[] =>
  parseAllDocuments(read(name), { version: '1.1' }).map((document) => document.toJS() as Manifest);
const files = readdirSync(folder).filter((name) => name !== 'kustomization.yaml');
const kustomization = parse('kustomization.yaml')[0] as unknown as {
  readonly resources: readonly string[];
  readonly configMapGenerator: readonly [{ readonly name: string; readonly literals: readonly string[] }];
};
/** Excludes objects that only have a name. */
const manifests = files.flatMap(parse).filter(({ kind }) => kind !== 'Namespace');
const deployments = manifests.flatMap(({ kind, metadata, spec: { template, selector } }) =>
  kind === 'Deployment' && template !== undefined ? [{ name: metadata.name, template, selector }] : [],
);
const page = readFileSync(fileURLToPath(new URL('../../docs/how-to/deploy-kubernetes.md', import.meta.url)), 'utf8');
const agree = (wanted: Labels, labels: Labels = {}): boolean => Object.entries(wanted).every(([name, value]) => labels[name] === value);

describe('the Kubernetes base', () => {
  it('lists its files, except the one of the operator', () => {
    expect([...kustomization.resources, 'service-monitor.yaml'].sort()).toEqual(files.sort());
  });

  it.each(deployments)('$name runs without needless privileges', ({ template: { spec } }) => {
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(spec.containers[0]).toMatchObject({
      securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
      resources: { requests: { memory: '256Mi' }, limits: { memory: '512Mi' } },
    });
  });

  it.each(deployments)('$name has time to start, and is not restarted while it is busy', ({ template: { spec } }) => {
    const { startupProbe, readinessProbe, livenessProbe } = spec.containers[0];
    expect(startupProbe.periodSeconds * (startupProbe.failureThreshold ?? 3)).toBeGreaterThanOrEqual(300);
    expect([startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => httpGet)).toEqual([
      { path: '/readyz', port: 'http' },
      { path: '/readyz', port: 'http' },
      { path: '/livez', port: 'http' },
    ]);
    for (const { timeoutSeconds } of [startupProbe, readinessProbe, livenessProbe]) expect(timeoutSeconds).toBe(5);
  });

  it.each(deployments)('$name reads the URLs from their mount path, with its group', ({ template: { spec } }) => {
    const settings = kustomization.configMapGenerator[0].literals;
    const [{ mountPath, name, readOnly } = { mountPath: '', name: '', readOnly: false }] = spec.containers[0].volumeMounts;
    const secret = spec.volumes.find((volume) => volume.name === name)?.secret;
    expect({ readOnly, secret }).toEqual({ readOnly: true, secret: { secretName: 'svc-urls', defaultMode: 0o440 } });
    expect(settings).toContain(`SVC_GRAPHQL_DYNAMIC_SECRETS_ALLOWED_PATH_PREFIX=${mountPath}`);
    const urls = settings.flatMap((literal) => /dynamic-from-file:\/\/(.*)\/(\w+)$/.exec(literal)?.slice(1) ?? []);
    expect(urls).toEqual([mountPath, 'metadata_url', mountPath, 'app_url']);
    // The page creates these secrets.
    for (const each of ['secret generic svc-urls', '--from-literal=metadata_url=', '--from-literal=app_url=']) expect(page).toContain(each);
    expect(spec.containers[0].envFrom).toEqual([{ configMapRef: { name: 'svc-settings' } }, { secretRef: { name: 'svc-secrets' } }]);
  });

  it('selects existing pods and services', () => {
    const pods = deployments.map(({ template }) => template.metadata.labels);
    const services = manifests.filter(({ kind }) => kind === 'Service');
    for (const { selector, template } of deployments) {
      expect(agree((selector as Selector).matchLabels ?? { nothing: '' }, template.metadata.labels)).toBe(true);
    }
    for (const { metadata, spec } of services) {
      expect(
        pods.filter((labels) => agree(spec.selector as Labels, labels)),
        metadata.name,
      ).toHaveLength(1);
      expect(spec.ports).toEqual([{ name: 'http', port: 80, targetPort: 'http' }]);
    }
    const found = manifests.flatMap(({ kind, metadata, spec }) => {
      const { matchLabels = {} } = spec.podSelector ?? (spec.selector as Selector | undefined) ?? {};
      const among = kind === 'ServiceMonitor' ? services.map((service) => service.metadata.labels) : pods;
      return ['PodDisruptionBudget', 'NetworkPolicy', 'ServiceMonitor'].includes(kind)
        ? [[kind, metadata.name, among.filter((labels) => agree(matchLabels, labels)).length]]
        : [];
    });
    expect(found.sort()).toEqual([
      ['NetworkPolicy', 'svc', 2],
      ['NetworkPolicy', 'svc-internal', 1],
      ['PodDisruptionBudget', 'svc', 1],
      ['ServiceMonitor', 'svc', 2],
    ]);
  });

  it('is scraped under the job of the alerts, with the secret that the page creates', () => {
    const [endpoint] = manifests.find(({ kind }) => kind === 'ServiceMonitor')?.spec.endpoints ?? [];
    expect(endpoint).toMatchObject({ port: 'http', relabelings: [{ targetLabel: 'job', replacement: 'svc' }] });
    const { name, key } = endpoint?.authorization.credentials ?? { name: '', key: '' };
    expect(page).toMatch(new RegExp(`secret generic ${name}[^]*--from-literal=${key}=`));
    expect(readFileSync(join(folder, '..', 'prometheus', 'alerts.yml'), 'utf8')).toContain('up{job="svc"}');
  });
});
