import type { NavigationEntry, Page } from '../page.ts'
import { accountPage } from './account-page.ts'

/** The pages of the user's own account, which both surfaces have. */
export const accountPages: readonly Page[] = [accountPage]

export const accountNavigation: readonly NavigationEntry[] = [{ path: '/', label: 'Account' }]
