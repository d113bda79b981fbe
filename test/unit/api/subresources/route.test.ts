import { expect, test } from '@jest/globals';
import type { Route } from '../../../../api/subresources/route.ts';
import { routeOf } from '../../../../api/subresources/route.ts';

const GROUP = '/apis/subresources.kubevirt.io';
const VMS = `${GROUP}/v1/namespaces/team/virtualmachines`;
const VMIS = `${GROUP}/v1/namespaces/team/virtualmachineinstances`;

const told = (route: Route): string => {
  switch (route.kind) {
    case 'discovery':
      return `${route.document} ${route.version}`.trim();
    case 'refused':
      return `${route.refusal.code}${route.access === undefined ? ' for all' : ''}`;
    case 'question':
      return `${route.question.resource} ${route.question.subresource}`;
    case 'stream':
      return `${route.stream.resource} ${route.stream.stream} ${JSON.stringify(route.stream.forward ?? {})}`;
    default:
      return route.kind;
  }
};

test.each`
  method      | path                                                            | then
  ${'GET'}    | ${'/'}                                                          | ${'root'}
  ${'GET'}    | ${'/apis'}                                                      | ${'groups'}
  ${'GET'}    | ${GROUP}                                                        | ${'group'}
  ${'GET'}    | ${`${GROUP}/`}                                                  | ${'group'}
  ${'HEAD'}   | ${`${GROUP}/v1`}                                                | ${'resources v1'}
  ${'GET'}    | ${`${GROUP}/v1alpha3`}                                          | ${'resources v1alpha3'}
  ${'GET'}    | ${`${GROUP}/v2`}                                                | ${'404 for all'}
  ${'GET'}    | ${'/apis/other.io/v1'}                                          | ${'404 for all'}
  ${'GET'}    | ${'/openapi/v2'}                                                | ${'openapi-v2'}
  ${'GET'}    | ${'/openapi/v3'}                                                | ${'openapi-v3'}
  ${'GET'}    | ${`/openapi/v3${GROUP}/v1`}                                     | ${'openapi-v3 v1'}
  ${'GET'}    | ${'/healthz'}                                                   | ${'healthz'}
  ${'GET'}    | ${`${GROUP}/v1/healthz`}                                        | ${'healthz'}
  ${'GET'}    | ${`${GROUP}/v1alpha3/version`}                                  | ${'version'}
  ${'POST'}   | ${`${GROUP}/v1/version`}                                        | ${'404 for all'}
  ${'PUT'}    | ${`${GROUP}/v1/namespaces/team/expand-vm-spec`}                 | ${'expand-vm-spec'}
  ${'GET'}    | ${`${GROUP}/v1/namespaces/team/expand-vm-spec`}                 | ${'405'}
  ${'PUT'}    | ${`${VMS}/web/start`}                                           | ${'virtualmachines start'}
  ${'PUT'}    | ${`${GROUP}/v1alpha3/namespaces/team/virtualmachines/web/stop`} | ${'virtualmachines stop'}
  ${'GET'}    | ${`${VMS}/web/start`}                                           | ${'405'}
  ${'DELETE'} | ${`${VMS}/web/start`}                                           | ${'405'}
  ${'GET'}    | ${`${VMS}/web/expand-spec`}                                     | ${'virtualmachines expand-spec'}
  ${'PUT'}    | ${`${VMS}/web/evacuate/cancel`}                                 | ${'virtualmachines evacuate/cancel'}
  ${'PUT'}    | ${`${VMS}/web/evacuate`}                                        | ${'404'}
  ${'PUT'}    | ${`${VMS}/web/pause`}                                           | ${'404'}
  ${'PUT'}    | ${`${VMS}/web/toString`}                                        | ${'404'}
  ${'GET'}    | ${`${VMS}/web`}                                                 | ${'404 for all'}
  ${'GET'}    | ${VMS}                                                          | ${'404 for all'}
  ${'PUT'}    | ${`${GROUP}/v1/namespaces/team/pods/web/start`}                 | ${'404 for all'}
  ${'PUT'}    | ${`${VMIS}/web/pause`}                                          | ${'virtualmachineinstances pause'}
  ${'GET'}    | ${`${VMIS}/web/vnc/screenshot`}                                 | ${'virtualmachineinstances vnc/screenshot'}
  ${'GET'}    | ${`${VMIS}/web/vnc`}                                            | ${'virtualmachineinstances vnc {}'}
  ${'GET'}    | ${`${VMIS}/web/console`}                                        | ${'virtualmachineinstances console {}'}
  ${'PUT'}    | ${`${VMIS}/web/console`}                                        | ${'405'}
  ${'GET'}    | ${`${VMS}/web/console`}                                         | ${'404'}
  ${'GET'}    | ${`${VMS}/web/portforward/22`}                                  | ${'virtualmachines portforward {"port":22,"protocol":"tcp"}'}
  ${'GET'}    | ${`${VMIS}/web/portforward/53/udp`}                             | ${'virtualmachineinstances portforward {"port":53,"protocol":"udp"}'}
  ${'GET'}    | ${`${VMIS}/web/portforward`}                                    | ${'400'}
  ${'GET'}    | ${`${VMIS}/web/portforward/0`}                                  | ${'400'}
  ${'GET'}    | ${`${VMIS}/web/portforward/65536`}                              | ${'400'}
  ${'GET'}    | ${`${VMIS}/web/portforward/ssh`}                                | ${'400'}
  ${'GET'}    | ${`${VMIS}/web/portforward/22/sctp`}                            | ${'400'}
  ${'GET'}    | ${`${VMIS}/web/portforward/22/tcp/x`}                           | ${'400'}
  ${'PUT'}    | ${`${VMS}/web/memorydump`}                                      | ${'501'}
  ${'GET'}    | ${`${VMIS}/web/sev/fetchcertchain`}                             | ${'501'}
  ${'GET'}    | ${`${VMIS}/%E0%A4%A/console`}                                   | ${'400 for all'}
`('$method $path: $then', ({ method, path, then }) => {
  expect(told(routeOf(method as string, path as string))).toBe(then);
});

test.each`
  method   | path                             | verb        | subresource          | name
  ${'PUT'} | ${`${VMS}/web/start`}            | ${'update'} | ${'start'}           | ${'web'}
  ${'PUT'} | ${`${VMS}/web/evacuate/cancel`}  | ${'update'} | ${'evacuate/cancel'} | ${'web'}
  ${'GET'} | ${`${VMS}/we%62/portforward/22`} | ${'get'}    | ${'portforward'}     | ${'web'}
  ${'GET'} | ${`${VMS}/web/nonsense`}         | ${'get'}    | ${'nonsense'}        | ${'web'}
`('$method $path is decided on as $verb $subresource', ({ method, path, ...access }) => {
  const expected = { version: 'v1', namespace: 'team', resource: 'virtualmachines', ...access };
  expect(routeOf(method as string, path as string)).toMatchObject({ access: expected });
});

test('expansion of a manifest is decided on as a resource of its own', () => {
  expect(routeOf('PUT', `${GROUP}/v1/namespaces/team/expand-vm-spec`)).toMatchObject({
    access: { verb: 'update', version: 'v1', namespace: 'team', resource: 'expand-vm-spec' },
  });
});
