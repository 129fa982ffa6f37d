import { actBy } from '../domain/context/actor.js'
import { terminateAllSessions } from '../domain/sessions/all-sessions-termination.js'
import type { SurfaceContext } from '../domain/surface/surface-context.js'
import { AuthError } from '../errors/index.js'
import type { Clock } from '../ports/host.js'
import type { Surface } from '../ports/surface.js'
import type { AllSessionsOptions } from './auth.js'

const members = ['surfaces', 'issuedBefore', 'by']
const both: readonly Surface[] = ['operator', 'client']

/** One surface after the other: the database of a running host has other work to do. */
export async function terminateSessionsOn(
  on: SurfaceContext['on'],
  clock: Clock,
  given: AllSessionsOptions,
): Promise<number> {
  const { surfaces = both, issuedBefore = clock.now(), by = {} } = given
  const isKnown = Object.keys(given).every((member) => members.includes(member))
  if (!isKnown || !areKnown(surfaces)) {
    const detail =
      "Options are { surfaces, issuedBefore, by }; surfaces is a list of 'operator' and 'client'."
    throw new AuthError('invalid_request', { detail })
  }
  const act = actBy(by)
  let written = 0
  for (const surface of new Set(surfaces)) {
    written += await terminateAllSessions(on(surface), issuedBefore, act)
  }
  return written
}

/** A cast may have let anything through, and an empty list would end nothing. */
function areKnown(surfaces: unknown): boolean {
  return (
    Array.isArray(surfaces) && surfaces.length > 0 && surfaces.every((name) => both.includes(name))
  )
}
