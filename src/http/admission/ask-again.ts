import type { Services } from '../../domain/services/index.js'
import type { Admission } from './admission.js'
import { permissionOf } from './permission.js'
import { stepUp } from './step-up.js'

/**
 * Asks once more what let the request of an administrator in: token, session, permission, second factor. Call it
 * before a write that had to wait, since each of them may have ended meanwhile. With `late`, it asks only where the
 * request was let in more than a second ago: the guards of a route follow one another that fast as well. Throws as the
 * guards do.
 */
export async function askAgain(
  admission: Admission,
  services: Pick<Services, 'access' | 'stepUp' | 'settings' | 'adminStepUp'>,
  when?: 'late',
): Promise<void> {
  const { operation, principal } = admission
  if (principal === null) throw new Error(`${operation.id} was reached without a principal`)
  if (when === 'late' && services.access.isFresh(principal)) return
  await services.access.permitAgain(principal, permissionOf(operation))
  const proof = stepUp(services)
  await proof.judge(admission, (await proof.read?.(admission)) ?? null)
}
