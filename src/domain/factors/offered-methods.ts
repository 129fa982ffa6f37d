import {
  allowedFactors,
  type SecondFactorMethod,
  usableMethods,
} from '../../engine/second-factor.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { enrolledFactors } from './enrolled-factors.js'

/** The methods that an account can show a second factor with now, read afresh. */
export async function offeredMethods(
  deps: Pick<SurfaceContext, 'collections' | 'settings'>,
  userId: string,
): Promise<readonly SecondFactorMethod[]> {
  const [enrolled, settings] = await Promise.all([
    enrolledFactors(deps.collections, userId),
    deps.settings(),
  ])
  return usableMethods({ enrolled, allowed: allowedFactors(settings) })
}
