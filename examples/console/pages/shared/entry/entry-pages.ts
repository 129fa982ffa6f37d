import type { Page } from '../page.ts'
import { forgotPasswordPage } from './forgot-password-page.ts'
import { registerPage } from './register-page.ts'
import { resetPasswordPage } from './reset-password-page.ts'
import { signInPage } from './sign-in-page.ts'
import { signedInPage } from './signed-in-page.ts'
import { verifyEmailPage } from './verify-email-page.ts'

/** The ways in, which both surfaces have. */
export const entryPages: readonly Page[] = [
  signInPage,
  registerPage,
  verifyEmailPage,
  forgotPasswordPage,
  resetPasswordPage,
  signedInPage,
]
