import { z } from 'zod';
import { isConflict, isNotFound, isTestFailed } from '../../../activities/kube/errors.ts';
import type { Rest } from '../../../activities/kube/rest.ts';

/** Name of the two webhook configurations. */
export const WEBHOOKS = 'virtflow';
/** Service of the front door, in virtflow's own namespace. */
export const API_SERVICE = 'virtflow-api';

/** Group of the aggregated API, and its versions. */
const AGGREGATED = ['v1.subresources.kubevirt.io', 'v1alpha3.subresources.kubevirt.io'];

const service = z.looseObject({ namespace: z.string(), name: z.string() });
const configuration = z.looseObject({
  webhooks: z
    .array(
      z.looseObject({
        name: z.string(),
        clientConfig: z.looseObject({ service: service.optional(), caBundle: z.string().optional() }),
      }),
    )
    .default([]),
});
const apiService = z.looseObject({
  spec: z.looseObject({ service: service.optional(), caBundle: z.string().optional() }),
});

const PATHS = [
  ...['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'].map(
    (plural) => `/apis/admissionregistration.k8s.io/v1/${plural}/${WEBHOOKS}`,
  ),
  ...AGGREGATED.map((name) => `/apis/apiregistration.k8s.io/v1/apiservices/${name}`),
];

/**
 * Tells the API server whom to trust at our front door: writes the authorities into whatever leads there and has others. An object that does not exist
 * is nobody's matter. Any number of replicas may do it at once.
 * @throws KubeError
 */
export const publishTrust = async (rest: Rest, namespace: string, ca: string): Promise<void> => {
  const caBundle = Buffer.from(ca).toString('base64');
  for (const path of PATHS) {
    try {
      const patch = patchOf(await rest.send({ method: 'GET', path }), namespace, caBundle);
      if (patch.length === 0) continue;
      await rest.send({ method: 'PATCH', path, body: patch, contentType: 'application/json-patch+json' });
    } catch (error) {
      // Another replica was first: the next look tells.
      if (!isNotFound(error) && !isConflict(error) && !isTestFailed(error)) throw error;
    }
  }
};

/** What has to change in a webhook configuration or an APIService, as a JSON patch. */
export const patchOf = (object: unknown, namespace: string, caBundle: string): object[] => {
  const leadsHere = (at: z.infer<typeof service> | undefined): boolean =>
    at?.namespace === namespace && at.name === API_SERVICE;
  const { success, data } = apiService.safeParse(object);
  if (success) {
    const { spec } = data;
    if (!leadsHere(spec.service) || spec.caBundle === caBundle) return [];
    return [
      { op: 'test', path: '/spec/service/name', value: API_SERVICE },
      { op: 'add', path: '/spec/caBundle', value: caBundle },
    ];
  }
  return configuration.parse(object).webhooks.flatMap(({ name, clientConfig }, index) =>
    !leadsHere(clientConfig.service) || clientConfig.caBundle === caBundle
      ? []
      : [
          { op: 'test', path: `/webhooks/${index}/name`, value: name },
          { op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: caBundle },
        ],
  );
};
