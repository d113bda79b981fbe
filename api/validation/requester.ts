/** Who asks for a change, as far as rules depend on it. */
export interface Requester {
  /** One of the system's own service accounts. */
  isSystem: boolean;
  /** The controller's. */
  isController: boolean;
}

export const USER: Requester = { isSystem: false, isController: false };
export const SYSTEM: Requester = { isSystem: true, isController: true };

const CONTROLLERS = ['virtflow-controller', 'kubevirt-controller'];
const SYSTEM_ACCOUNTS = [...CONTROLLERS, 'virtflow-node', 'kubevirt-apiserver', 'kubevirt-handler'];

/** The requester behind a user name of an admission request; `namespaces` are those in which the system runs. */
export const requesterOf = (username: string, namespaces: readonly string[]): Requester => {
  const [kind, what, namespace = '', account = ''] = username.split(':');
  const ours = kind === 'system' && what === 'serviceaccount' && namespaces.includes(namespace);
  return { isSystem: ours && SYSTEM_ACCOUNTS.includes(account), isController: ours && CONTROLLERS.includes(account) };
};
