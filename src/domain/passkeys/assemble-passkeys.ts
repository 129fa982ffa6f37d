import { onceLoaded } from '../../concurrency/promises.js'
import { loadPart } from '../../errors/index.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { PasskeyCollaborators, PasskeyServices } from './create-passkey-services.js'

/** Passkeys are loaded at the first request that needs one: many hosts have none. */
export function assemblePasskeys(
  context: SurfaceContext,
  collaborators: PasskeyCollaborators,
): PasskeyServices {
  const services = onceLoaded(async () => {
    const load = () => import('./create-passkey-services.js')
    const { createPasskeyServices } = await loadPart('passkeys', load)
    return createPasskeyServices(context, collaborators)
  })
  return {
    passkeyRegistration: {
      start: async (...asked) => (await services()).passkeyRegistration.start(...asked),
      finish: async (...made) => (await services()).passkeyRegistration.finish(...made),
    },
    passkeyLogin: {
      start: async (waiting) => (await services()).passkeyLogin.start(waiting),
      finish: async (...shown) => (await services()).passkeyLogin.finish(...shown),
    },
    passkeyStepUp: {
      start: async (who) => (await services()).passkeyStepUp.start(who),
      finish: async (...shown) => (await services()).passkeyStepUp.finish(...shown),
    },
    ownPasskeys: {
      list: async (who) => (await services()).ownPasskeys.list(who),
      remove: async (...named) => (await services()).ownPasskeys.remove(...named),
    },
  }
}
