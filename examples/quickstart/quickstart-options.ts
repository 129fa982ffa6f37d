import type { PGlite } from '@electric-sql/pglite'
import { type AuthOptions, roleAuthorizer } from 'postern'
import { postgres } from 'postern/postgres'
import { configKey, signingKey } from './first-start.ts'
import { printingMailer } from './printing-mailer.ts'

interface Place {
  readonly database: PGlite
  /** Holds the keys; with a slash at the end. */
  readonly dataFolder: string
  readonly baseUrl: string
}

/** A page must know whose token it has, so mails to operators link to pages of their own. */
const pages = { verifyEmail: '/operator/verify-email', resetPassword: '/operator/reset-password' }

/** Both surfaces at one address, with keys that are made at the first start. */
export async function quickstartOptions({
  database,
  dataFolder,
  baseUrl,
}: Place): Promise<AuthOptions> {
  return {
    backend: postgres(database),
    keys: { current: await signingKey(dataFolder) },
    configKeys: [{ id: 'first', key: await configKey(dataFolder) }],
    surfaces: { operator: { baseUrl, pages }, client: { baseUrl } },
    mailer: printingMailer,
    // The first operator's `systemRole`, `super_admin`, may change the settings.
    authorizer: roleAuthorizer(),
    settings: { totpIssuer: 'Quickstart' },
  }
}
