import type { AuthClient } from 'postern/client'
import type { Page, PageContext } from '../shared/page.ts'

/** What pages of the operator surface get besides. */
export interface OperatorContext extends PageContext {
  /** The same client, with what operators alone may call. */
  readonly operator: AuthClient<'operator'>
}

export type OperatorPage = Page<OperatorContext>
