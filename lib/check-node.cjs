'use strict';

// run before each script of package.json by whatever Node is there, so it is plain JavaScript

// a bundler, or the PATH on which npm puts the programs of this folder, would read them as syntax
var folder = __dirname.slice(0, -'/lib'.length);
var refused = folder.match(/[#?!*$:\\]/);
if (refused !== null) {
  process.stderr.write(
    'Docket cannot run in ' +
      folder +
      ', because its path contains ' +
      refused[0] +
      '. Move it to a folder whose path has none of # ? ! * $ : and \\.\n',
  );
  process.exit(1);
}

var needed = '24.16';

var wanted = needed.split('.').map(Number);
var have = process.versions.node.split('.').map(Number);
if (have[0] < wanted[0] || (have[0] === wanted[0] && have[1] < wanted[1])) {
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
