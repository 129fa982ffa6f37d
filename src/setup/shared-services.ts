import { type TokenMemo, tokenMemo } from '../crypto/memos.js'
import type { SecretBox } from '../crypto/secret-box.js'
import { type Configuration, createConfiguration } from '../domain/configuration/config-store.js'
import { createEventPublisher } from '../domain/events/event-publisher.js'
import { createSigningKeys, type SigningKeys } from '../domain/keys/signing-keys.js'
import { OptionsError } from '../errors/index.js'
import { type TrustedProxies, trustedProxies } from '../http/incoming-request.js'
import {
  createProviderClients,
  type ProviderClients,
} from '../identity-providers/provider-clients.js'
import { moduleCollectionsOf } from '../model/configuration.js'
import { type ServiceCredential, serviceCredentialsSpec } from '../model/user.js'
import type { AuthOptions } from '../options.js'
import type { AuthEvent, Emit } from '../ports/events.js'
import type { Authorizer, Logger } from '../ports/host.js'
import type { Collection } from '../ports/store.js'
import type { Tracing } from '../ports/telemetry.js'
import type { AuthSettings } from '../settings/settings.js'
import { createTracing } from '../telemetry/open-telemetry.js'
import { authorizerOf } from './authorizer.js'
import type { Defaults } from './defaults.js'
import { liveSettings, loadSettings } from './live-settings.js'
import { modulesOf, secretBoxOf } from './modules.js'
import { type PasswordParts, passwordParts } from './password-hashing.js'
import { endpointsOf } from './surface-options.js'
import type { ReadOptions } from './with-config-keys.js'

/** What there is once, whatever the surface. */
export interface SharedServices extends PasswordParts {
  readonly authorizer: Authorizer
  readonly proxies: TrustedProxies
  readonly config: Configuration
  /** Milliseconds of the idle window. */
  readonly idleMs: number
  readonly keys: SigningKeys
  readonly providers: ProviderClients
  readonly publish: (event: AuthEvent) => void
  readonly secretBox: SecretBox
  /** The credentials of service accounts; there is one collection, of the operator surface. */
  readonly serviceCredentials: Collection<ServiceCredential>
  readonly settings: () => Promise<AuthSettings>
  readonly tokenMemo: TokenMemo
  readonly tracing: Tracing
}

/** Rejects with an `OptionsError` for the first option, in this order, that cannot work. */
export async function createSharedServices(
  options: ReadOptions,
  defaults: Defaults,
  emit: Emit,
): Promise<SharedServices> {
  const { backend, clock, env, fetcher, logger, prefix, random } = defaults
  const keys = await createSigningKeys(options.keys, clock, logger, options.backendTimeout)
  const proxies = readTrustProxy(options)
  const { idleMs, seeds } = loadSettings(options.settings ?? {}, env, logger)
  const secretBox = secretBoxOf(options.configKeys, env, random)
  const config = createConfiguration({
    ...defaults,
    collections: moduleCollectionsOf(backend.store, prefix),
    modules: modulesOf(options, seeds, env, secretBox),
    emit,
  })
  const settings = liveSettings(config.reader, env, logger, options.adminStepUp)
  const authorizer = authorizerOf(options, backend.store, prefix)
  const passwords = await passwordParts(options, defaults)
  const tracing = createTracing(options, clock)
  return {
    ...passwords,
    authorizer,
    proxies: warnedOnce(proxies, logger),
    config,
    idleMs,
    keys,
    providers: createProviderClients({ fetcher, clock, endpoints: endpointsOf(options) }),
    publish: createEventPublisher({ onEvent: options.onEvent, tracing, logger }),
    secretBox,
    serviceCredentials: backend.store.collection({
      ...serviceCredentialsSpec,
      name: prefix + serviceCredentialsSpec.name,
    }),
    settings,
    tokenMemo: tokenMemo(options.tokenMemory ?? 32),
    tracing,
  }
}

function readTrustProxy({ trustProxy = false }: AuthOptions): TrustedProxies {
  try {
    return trustedProxies(trustProxy)
  } catch (error) {
    throw new OptionsError('trustProxy', error instanceof Error ? error.message : 'is not valid')
  }
}

/** A host that forgot to pass the address on locks all its users out together. */
function warnedOnce(proxies: TrustedProxies, logger: Logger): TrustedProxies {
  let isTold = false
  return (request) => {
    const peer = proxies(request)
    if (peer.ip === null && !isTold) {
      isTold = true
      logger.warn(
        'a request came without an address: all such requests share the rate limits of one; give fetchHandler and fetchGuards { remoteAddress }, or set trustProxy behind a proxy or a Unix socket',
      )
    }
    return peer
  }
}
