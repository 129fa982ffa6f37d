import type { Decision } from './decision.js'

/** Whether these decisions, played again, still show what is looked for. */
type Fails = (decisions: readonly Decision[]) => Promise<boolean>

/** A piece of a history that may be left out as a whole. */
type Part = (decision: Decision) => boolean

/**
 * Fewer decisions that still show it: first without whole actors and whole kinds of faults, then without ever smaller
 * stretches, until none can be left out or `tries` are used up (delta debugging).
 */
export async function shrink(
  decisions: readonly Decision[],
  fails: Fails,
  tries = 600,
): Promise<readonly Decision[]> {
  let left = tries
  let best = decisions

  async function tryWithout(fewer: readonly Decision[]): Promise<boolean> {
    if (left === 0 || fewer.length === best.length) return false
    left -= 1
    if (!(await fails(fewer))) return false
    best = fewer
    return true
  }

  for (const part of partsOf(decisions)) {
    await tryWithout(best.filter((decision) => !part(decision)))
  }
  for (
    let size = Math.ceil(best.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    // From the end: what came after the mistake is of no use.
    for (let from = Math.floor((best.length - 1) / size) * size; from >= 0; from -= size) {
      await tryWithout([...best.slice(0, from), ...best.slice(from + size)])
    }
  }
  return best
}

function partsOf(decisions: readonly Decision[]): readonly Part[] {
  const requestsOf = new Map<string, Set<string>>()
  for (const decision of decisions) {
    if (decision.kind !== 'begin') continue
    const requests = requestsOf.get(decision.actor) ?? new Set()
    requestsOf.set(decision.actor, requests.add(decision.request))
  }
  const actors = [...requestsOf].map(
    ([actor, requests]): Part =>
      (decision) =>
        ('actor' in decision && decision.actor === actor) ||
        ('request' in decision && requests.has(decision.request)),
  )
  const kinds = (['restart', 'kill', 'loseDenylist', 'advance'] as const).map(
    (kind): Part =>
      (decision) =>
        decision.kind === kind,
  )
  return [...actors, ...kinds]
}
