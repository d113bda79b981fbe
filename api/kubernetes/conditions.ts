interface Conditioned {
  status?: { conditions?: readonly { type: string; status: string }[] };
}

/** A condition is there and True. */
export const isTrue = (object: Conditioned | undefined, type: string): boolean =>
  object?.status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
