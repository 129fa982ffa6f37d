import type { Services } from '../../domain/services/index.js'
import type { Logger } from '../../ports/logger.js'
import type { Surface } from '../../ports/surface.js'
import { addressLimit, type HasRefreshCookie } from './address-limit.js'
import type { Admission, AdmissionStep } from './admission.js'
import { bodyArrival } from './body-arrival.js'
import { caller } from './caller.js'
import { humanSession } from './human-session.js'
import { inputForm } from './input-form.js'
import { originCheck } from './origin-check.js'
import { permission } from './permission.js'
import { sessionLimit } from './session-limit.js'
import { stepUp } from './step-up.js'
import { target } from './target.js'
import { ticket } from './ticket.js'

interface Host {
  readonly allowedOrigins: ReadonlySet<string>
  readonly hasRefreshCookie: HasRefreshCookie
  readonly logger: Logger
}

/** What every request of a surface is judged by, the same for every operation: the first refusal wins. */
export function admissionSteps(
  surface: Surface,
  services: Services,
  { allowedOrigins, hasRefreshCookie, logger }: Host,
): readonly AdmissionStep[] {
  return [
    addressLimit(surface, services, hasRefreshCookie),
    originCheck(allowedOrigins),
    bodyArrival(logger),
    caller(services),
    sessionLimit(services),
    humanSession(services),
    permission(services),
    stepUp(services),
    target(services),
    inputForm,
    ticket,
  ]
}

/**
 * Takes a request through the steps, top to bottom; throws the first refusal. Each read waits for
 * the judges above it: a request that they refuse must not have cost the store what lies below. Only what
 * every caller of an operation needs is read earlier, beside the denylist.
 */
export async function admit(steps: readonly AdmissionStep[], admission: Admission): Promise<void> {
  for (const step of steps) {
    await step.judge(admission, await step.read?.(admission))
  }
}
