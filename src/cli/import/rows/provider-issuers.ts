/** As identities have them. Microsoft has one for each tenant. */
export const providerIssuers = {
  google: 'https://accounts.google.com',
  github: 'https://github.com/login/oauth',
  apple: 'https://appleid.apple.com',
} as const
