/** Joins the digest of a client with those of its places; none of them has a dot. */
export function clientMark(client: string, places: readonly string[]): string {
  return [client, ...places].join('.')
}

/** Whether two marks are of one client, wherever it was. */
export function isSameClient(one: string, other: string): boolean {
  return one.split('.')[0] === other.split('.')[0]
}

/** What changed from one mark to the next; nothing where one of them has no places. */
export function changedPlaces(before: string, now: string): readonly ('network' | 'userAgent')[] {
  const [, network, agent] = before.split('.')
  const [, nextNetwork, nextAgent] = now.split('.')
  if (agent === undefined || nextAgent === undefined) return []
  return [
    ...(network === nextNetwork ? [] : (['network'] as const)),
    ...(agent === nextAgent ? [] : (['userAgent'] as const)),
  ]
}
