import { accountPages } from '../shared/account/account-pages.ts'
import { linkedProvidersPage } from '../shared/account/linked-providers-page.ts'
import { entryPages } from '../shared/entry/entry-pages.ts'
import { ownSessionsPage } from './account/own-sessions-page.ts'
import { auditPage } from './audit/audit-page.ts'
import { configurationPages } from './configuration/configuration-pages.ts'
import type { OperatorContext, OperatorPage } from './operator-page.ts'
import { rolesPage } from './roles/roles-page.ts'
import { serviceAccountPage } from './service-accounts/service-account-page.ts'
import { serviceAccountsPage } from './service-accounts/service-accounts-page.ts'
import { statusPage } from './status/status-page.ts'
import { userPage } from './users/user-page.ts'
import { usersPage } from './users/users-page.ts'

/** Every page of the operator surface. */
export const pages: readonly OperatorPage[] = [
  ...entryPages,
  ...accountPages,
  ownSessionsPage,
  linkedProvidersPage<OperatorContext>({
    link: ({ operator }, given) => operator.call('POST /oauth/{provider}/link', given),
    unlink: ({ operator }, given) => operator.call('DELETE /oauth/{provider}/link', given),
  }),
  usersPage,
  userPage,
  serviceAccountsPage,
  serviceAccountPage,
  rolesPage,
  auditPage,
  ...configurationPages,
  statusPage,
]
