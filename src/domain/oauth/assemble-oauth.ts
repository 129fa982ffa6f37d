import { onceLoaded } from '../../concurrency/promises.js'
import { loadPart } from '../../errors/index.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { IdentityAdministration } from './identity-administration.js'
import { createOauthIdentities, type OauthIdentities } from './oauth-identities.js'
import type { OauthLinks } from './oauth-links.js'
import type { OauthCollaborators, OauthPart } from './oauth-part.js'
import type { OauthSignIn } from './oauth-sign-in.js'

export interface OauthServices {
  readonly oauth: OauthSignIn
  readonly oauthLinks: OauthLinks
  readonly oauthIdentities: OauthIdentities
  readonly identityAdministration: IdentityAdministration
}

/** Many hosts have no provider: what signs in by one is loaded at its first use. */
export function assembleOauth(
  context: SurfaceContext,
  collaborators: OauthCollaborators,
): OauthServices {
  const identities = createOauthIdentities(context)
  const part = onceLoaded(async () => {
    const loaded = await loadPart('signing in by a provider', () => import('./oauth-part.js'))
    return loaded.createOauthPart(context, { ...collaborators, identities })
  })
  const oauthLinks = loadedLinks(part)
  return {
    oauthLinks,
    oauthIdentities: identities,
    identityAdministration: loadedAdministration(identities, oauthLinks),
    oauth: loadedSignIn(part),
  }
}

type Part = () => Promise<OauthPart>

function loadedSignIn(part: Part): OauthSignIn {
  const oauth = async () => (await part()).oauth
  return {
    offered: async () => (await oauth()).offered(),
    startWeb: async (...given) => (await oauth()).startWeb(...given),
    startMobile: async (...given) => (await oauth()).startMobile(...given),
    startLink: async (...given) => (await oauth()).startLink(...given),
    finish: async (...given) => (await oauth()).finish(...given),
    exchange: async (...given) => (await oauth()).exchange(...given),
  }
}

function loadedLinks(part: Part): OauthLinks {
  const links = async () => (await part()).links
  return {
    prepare: async (...given) => (await links()).prepare(...given),
    complete: async (...given) => (await links()).complete(...given),
    confirm: async (...given) => (await links()).confirm(...given),
    forgetOffer: async (...given) => (await links()).forgetOffer(...given),
    unlink: async (...given) => (await links()).unlink(...given),
    unlinkOf: async (...given) => (await links()).unlinkOf(...given),
    person: async (...given) => (await links()).person(...given),
  }
}

/** Most processes serve requests alone, and never administer identities in code. */
function loadedAdministration(
  identities: OauthIdentities,
  links: OauthLinks,
): IdentityAdministration {
  const load = async () => {
    const part = () => import('./identity-administration.js')
    const loaded = await loadPart('identities in code', part)
    return loaded.createIdentityAdministration(identities, links)
  }
  return {
    list: async (...given) => (await load()).list(...given),
    remove: async (...given) => (await load()).remove(...given),
  }
}
