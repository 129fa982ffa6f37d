/** @type {import('next').NextConfig} */
export default {
  // Hashes and keys need Node: leave them out of the bundle.
  serverExternalPackages: ['postern'],
  poweredByHeader: false,
  // This folder is the whole application, whatever lies above it.
  turbopack: { root: import.meta.dirname },
  agentRules: false,
}
