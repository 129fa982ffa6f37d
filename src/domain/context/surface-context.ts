import type { BackgroundTasks } from '../../concurrency/background-tasks.js'
import type { SecretBox } from '../../crypto/secret-box.js'
import type { RelyingParty } from '../../crypto/webauthn.js'
import type { Collections } from '../../model/collections.js'
import type { ServiceCredential } from '../../model/user.js'
import type { Denylist } from '../../ports/backend.js'
import type { Emit } from '../../ports/events.js'
import type { Clock, Logger, Random } from '../../ports/host.js'
import type { Collection } from '../../ports/store.js'
import type { Surface } from '../../ports/surface.js'
import type { AuthSettings } from '../../settings/settings.js'

/**
 * The ports and constants of one surface. A service takes the part it needs, and names the services it
 * works with itself.
 */
export interface SurfaceContext {
  readonly surface: Surface
  readonly collections: Collections
  /** The credentials of service accounts; there is one collection, of the operator surface. */
  readonly serviceCredentials: Collection<ServiceCredential>
  readonly denylist: Denylist
  readonly clock: Clock
  readonly random: Random
  /** The settings in force now; rejects when they cannot be known. */
  readonly settings: () => Promise<AuthSettings>
  /** Encrypts what must be read again: secrets of authenticator apps. */
  readonly secretBox: SecretBox
  readonly issuer: string
  /** What passkeys of this surface are bound to. */
  readonly relyingParty: RelyingParty
  /** Milliseconds of the idle window. */
  readonly idleMs: number
  /** Whole seconds, 0 to 60. */
  readonly clockLeeway: number
  /** Where browsers reach the routes of this surface, without a slash at the end. */
  readonly routesUrl: string
  /** Whether browsers and apps get a recognition id at logins. */
  readonly recognisesDevices: boolean
  /** Whether a sign-in by a provider that bounces is offered as a link to the account's user. */
  readonly offersLinks: boolean
  readonly background: BackgroundTasks
  readonly emit: Emit
  readonly logger: Logger
}
