import type { NavigationEntry, Page } from '../page.ts'
import { accountPage } from './account-page.ts'
import { securityPage } from './security-page.ts'

/** The pages of the user's own account, which both surfaces have. */
export const accountPages: readonly Page[] = [accountPage, securityPage]

/** Their lines in the navigation. */
export const accountNavigation: readonly NavigationEntry[] = [
  { path: accountPage.path, label: 'Account' },
  { path: securityPage.path, label: 'Security' },
]
