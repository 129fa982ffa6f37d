import type { Services } from '../../domain/services/index.js'
import { AuthError } from '../../errors/index.js'
import type { Admission } from './admission.js'

/**
 * A registration whose password the rules refuse does not count for its address: it made nothing, people need a few tries,
 * and a class or an office shares one address. One that is refused as breached counts: another service was asked for it.
 */
export async function handBackRefused(
  { operation, address }: Pick<Admission, 'operation' | 'address'>,
  error: unknown,
  { limits }: Pick<Services, 'limits'>,
): Promise<void> {
  if (operation.limit !== 'register' || !(error instanceof AuthError)) return
  const { violations } = error
  if (violations !== null && !violations.includes('breached')) {
    await limits.forgive('registerPerIp', address, 1)
  }
}
