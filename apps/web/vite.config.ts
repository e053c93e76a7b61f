import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Paths are relative, so that the app works under any prefix; the gateway puts a fresh nonce in place of the word. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [react()],
  html: { cspNonce: 'NONCE_OF_THIS_ANSWER' },
  build: {
    outDir: '../../dist/web',
    emptyOutDir: true,
    target: 'es2022',
    // Browsers of 2024 and later know light-dark(); a lowered form does not follow the theme.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    modulePreload: { polyfill: false },
    // A data: URL would need its own place in the Content-Security-Policy.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
  },
});
