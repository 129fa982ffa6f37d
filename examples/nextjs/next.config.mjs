/** @type {import('next').NextConfig} */
export default {
  // Next.js makes several bundles: an AuthError of one would be no AuthError of another.
  serverExternalPackages: ['postern'],
  poweredByHeader: false,
  // This folder is the whole application, whatever lies above it.
  turbopack: { root: import.meta.dirname },
  agentRules: false,
}
