'use strict';

// run before each script of package.json by whatever Node is there, so it is plain JavaScript
var needed = 24;

if (Number(process.versions.node.split('.')[0]) < needed) {
  process.stderr.write(
    'Docket runs on Node.js ' +
      needed +
      ' or newer, and this is ' +
      process.version +
      ' (' +
      process.execPath +
      '). ' +
      'Run "npm ci", which brings the right one for the scripts of this folder, or install Node.js ' +
      needed +
      '.\n',
  );
  process.exit(1);
}
