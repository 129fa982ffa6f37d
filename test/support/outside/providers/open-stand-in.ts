import type { CryptoKey } from 'jose'
import type { ProviderId } from '../../../../src/identity-providers/providers.js'
import { appleStandIn } from './apple.js'
import { githubStandIn } from './github.js'
import { googleStandIn, microsoftStandIn } from './openid-provider.js'
import type { StandIn, StandInOptions } from './stand-in.js'

interface Options extends StandInOptions {
  /** Of the key that signs the host's client secrets for Apple. */
  readonly publicKey: CryptoKey
}

/** One of the four, listening. */
export function openStandIn(id: ProviderId, options: Options): Promise<StandIn> {
  switch (id) {
    case 'google':
      return googleStandIn(options)
    case 'microsoft':
      return microsoftStandIn(options)
    case 'apple':
      return appleStandIn(options)
    case 'github':
      return githubStandIn(options)
  }
}
