export { exportPKCS8, generateKeyPair } from 'jose'
