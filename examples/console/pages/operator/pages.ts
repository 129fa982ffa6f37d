import { accountPages } from '../shared/account/account-pages.ts'
import { entryPages } from '../shared/entry/entry-pages.ts'
import { linkedProvidersPage } from './account/linked-providers-page.ts'
import { ownSessionsPage } from './account/own-sessions-page.ts'
import { configurationPages } from './configuration/configuration-pages.ts'
import type { OperatorPage } from './operator-page.ts'

/** Every page of the operator surface. */
export const pages: readonly OperatorPage[] = [
  ...entryPages,
  ...accountPages,
  ownSessionsPage,
  linkedProvidersPage,
  ...configurationPages,
]
