import { allowedFactors, type SecondFactorMethod, usableMethods } from '../../engine/factors.js'
import { enrolledFactors } from '../context/enrolled-factors.js'
import type { SurfaceContext } from '../context/surface-context.js'

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
