import { accountPages } from '../shared/account/account-pages.ts'
import { signInPage } from '../shared/sign-in-page.ts'
import type { OperatorPage } from './operator-page.ts'

/** Every page of the operator surface. */
export const pages: readonly OperatorPage[] = [signInPage, ...accountPages]
